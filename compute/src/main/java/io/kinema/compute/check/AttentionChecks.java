package io.kinema.compute.check;

import io.kinema.compute.Device;
import io.kinema.compute.Tensor;

/** Arguments of {@link io.kinema.compute.AttentionOps}. */
final class AttentionChecks {
    private AttentionChecks() {
    }

    static void attention(Device device, Tensor q, Tensor k, Tensor v, Tensor out) {
        Arguments a = new Arguments("attention", device);
        a.floats("q", q, 3);
        a.floats("k", k, 3);
        a.floats("v", v, 3);
        if (k.dtype() != q.dtype()) {
            a.fail("k", k, "the dtype of q, " + q.dtype());
        }
        if (v.dtype() != q.dtype()) {
            a.fail("v", v, "the dtype of q, " + q.dtype());
        }
        if (k.size(2) != q.size(2)) {
            a.fail("k", k, "heads of " + q.size(2) + " channels as in q");
        }
        a.require(k.size(0) > 0, "k", k, "at least one key");
        if (k.size(1) == 0 || q.size(1) % k.size(1) != 0) {
            a.fail("k", k, "kv heads that divide the " + q.size(1) + " heads of q");
        }
        a.sameShape("v", v, k);
        a.floats("out", out);
        a.sameShape("out", out, q);
        a.disjoint("q", q, out);
        a.disjoint("k", k, out);
        a.disjoint("v", v, out);
    }
}
