package io.kinema.compute.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.kinema.compute.Backend;
import io.kinema.compute.DenseWeight;
import io.kinema.compute.Operand;
import io.kinema.compute.Tensor;
import io.kinema.compute.Workspace;
import io.kinema.compute.cpu.CpuBackend;
import io.kinema.compute.reference.ReferenceBackend;
import io.kinema.weights.DType;
import io.kinema.weights.StoredTensor;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ComparedBackendTest {
    private final Values values = new Values(1);
    private final OperatorDifferences differences = new OperatorDifferences();
    private final Backend host = CpuBackend.open(1);
    private final Backend oracle = new ReferenceBackend();

    @AfterEach
    void close() {
        host.close();
        oracle.close();
    }

    @Test
    void keepsTheHostsResultAndTellsHowFarTheOtherIs() {
        Backend compared = ComparedBackend.of(host, oracle, differences);
        float[] kept = product(compared);
        assertThat(kept).isEqualTo(product(host));
        OperatorDifferences.Line line = differences.lines().get("linear BF16 to F32");
        assertThat(line.calls()).isOne();
        assertThat(line.worst()).isBetween(1e-9, 1e-6);
        assertThat(line.tensor()).startsWith("blocks.3.to_q.weight");
        assertThat(differences.lines()).containsKey("prepare F32 to BF16");
    }

    @Test
    void everyCaseOfEveryOperationCanBeCompared() {
        Backend compared = ComparedBackend.of(host, oracle, differences);
        OpCases.all().forEach(op -> op.on(compared));
        assertThat(differences.lines().values()).hasSizeGreaterThan(40).allSatisfy(line -> assertThat(line.worst()).as(line.tensor()).isLessThan(5e-3));
    }

    @Test
    void aWrongOperationIsNamedWithItsTensor() {
        Backend wrong = (Backend) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Backend.class}, (_, method, arguments) -> {
            Object result = method.invoke(oracle, arguments);
            if (method.getName().equals("linear")) {
                Tensor out = (Tensor) arguments[arguments.length - 1];
                oracle.scale(out, 1.25f, out);
            }
            return result;
        });
        float[] kept = product(ComparedBackend.of(host, wrong, differences));
        assertThat(kept).isEqualTo(product(host));
        assertThat(differences.lines().get("linear BF16 to F32").worst()).isBetween(0.24, 0.26);
        assertThat(differences.table(1e-3)).contains("the worst is linear BF16 to F32, blocks.3.to_q.weight");
    }

    private float[] product(Backend backend) {
        Values seeded = new Values(7);
        Tensor stored = seeded.normal(DType.BF16, 24, 40);
        Tensor rows = seeded.normal(5, 40);
        Tensor out = Values.empty(5, 24);
        try (Workspace memory = backend.workspace("test")) {
            Tensor weight = backend.load(new StoredTensor("blocks.3.to_q.weight", DType.BF16, stored.shape(), stored.data(), Path.of("f")), memory);
            Operand x = backend.prepare(rows, DType.BF16, memory);
            backend.linear(x, new DenseWeight(weight), Optional.empty(), out);
            return out.toFloats();
        }
    }
}
