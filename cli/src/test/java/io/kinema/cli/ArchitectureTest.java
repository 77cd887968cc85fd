package io.kinema.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The house rules that a machine can hold. It lives in cli because cli sees every room. */
class ArchitectureTest {
    private static JavaClasses classes;

    @BeforeAll
    static void read() {
        classes = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.kinema");
    }

    @Test
    void arrowsPointDownOnly() {
        layeredArchitecture().consideringOnlyDependenciesInAnyPackage("io.kinema..")
                .withOptionalLayers(true)
                .layer("cli").definedBy("io.kinema.cli..")
                .layer("serve").definedBy("io.kinema.serve..")
                .layer("jobs").definedBy("io.kinema.jobs..")
                .layer("measure").definedBy("io.kinema.measure..")
                .layer("engine").definedBy("io.kinema.engine..")
                .layer("model").definedBy("io.kinema.model..")
                .layer("quality").definedBy("io.kinema.quality..")
                .layer("media").definedBy("io.kinema.media..")
                .layer("cuda").definedBy("io.kinema.cuda..")
                .layer("compute").definedBy("io.kinema.compute..")
                .layer("weights").definedBy("io.kinema.weights..")
                .whereLayer("cli").mayNotBeAccessedByAnyLayer()
                .whereLayer("serve").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("jobs").mayOnlyBeAccessedByLayers("serve", "cli")
                .whereLayer("measure").mayOnlyBeAccessedByLayers("serve", "cli")
                .whereLayer("engine").mayOnlyBeAccessedByLayers("measure", "jobs", "serve", "cli")
                .whereLayer("model").mayOnlyBeAccessedByLayers("engine", "measure", "cli")
                .whereLayer("quality").mayOnlyBeAccessedByLayers("engine", "measure", "serve", "cli")
                .whereLayer("media").mayOnlyBeAccessedByLayers("quality", "engine", "measure", "jobs", "serve", "cli")
                .whereLayer("cuda").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("compute").mayOnlyBeAccessedByLayers("cuda", "model", "engine", "measure", "cli")
                .whereLayer("weights").mayOnlyBeAccessedByLayers("compute", "cuda", "quality", "model", "engine", "measure", "jobs", "serve", "cli")
                .check(classes);
    }

    @Test
    void lowerRoomsDoNotNameTheModel() {
        noClasses().that().resideInAnyPackage("io.kinema.compute..", "io.kinema.cuda..", "io.kinema.weights..", "io.kinema.media..", "io.kinema.quality..")
                .should(nameTheModel())
                .check(classes);
    }

    @Test
    void nobodyUsesUnsafe() {
        noClasses().should().dependOnClassesThat().haveFullyQualifiedName("sun.misc.Unsafe")
                .orShould().dependOnClassesThat().haveFullyQualifiedName("jdk.internal.misc.Unsafe")
                .check(classes);
    }

    @Test
    void onlyTheCommandEndsTheProcess() {
        noClasses().that().resideOutsideOfPackage("io.kinema.cli..")
                .should().callMethod(System.class, "exit", int.class)
                .orShould().callMethod(Runtime.class, "exit", int.class)
                .orShould().callMethod(Runtime.class, "halt", int.class)
                .check(classes);
    }

    @Test
    void onlyTheCommandPrints() {
        noClasses().that().resideOutsideOfPackage("io.kinema.cli..")
                .should().accessField(System.class, "out")
                .orShould().accessField(System.class, "err")
                .orShould().callMethod(Throwable.class, "printStackTrace")
                .orShould().dependOnClassesThat().resideInAnyPackage("java.util.logging..", "org.slf4j..")
                .check(classes);
    }

    /** Numbers in messages, names and files are the same for every user. */
    @Test
    void nobodyFormatsByTheUsersLocale() {
        noClasses().should().callMethod(String.class, "formatted", Object[].class)
                .orShould().callMethod(String.class, "format", String.class, Object[].class)
                .orShould().callMethod(PrintStream.class, "printf", String.class, Object[].class)
                .orShould().callMethod(String.class, "toLowerCase")
                .orShould().callMethod(String.class, "toUpperCase")
                .check(classes);
    }

    @Test
    void nobodySerialisesObjects() {
        noClasses().should().dependOnClassesThat().haveFullyQualifiedName("java.io.ObjectInputStream")
                .orShould().dependOnClassesThat().haveFullyQualifiedName("java.io.ObjectOutputStream")
                .check(classes);
    }

    @Test
    void theEngineShowsNoMemory() {
        noMethods().that().areDeclaredInClassesThat().resideInAPackage("io.kinema.engine")
                .and().arePublic()
                .and().areDeclaredInClassesThat().arePublic()
                .should(new ArchCondition<>("have a MemorySegment in the signature") {
                    @Override
                    public void check(JavaMethod method, ConditionEvents events) {
                        boolean shows = method.getRawReturnType().isEquivalentTo(MemorySegment.class)
                                || method.getRawParameterTypes().stream()
                                        .anyMatch(type -> type.isEquivalentTo(MemorySegment.class));
                        events.add(new SimpleConditionEvent(method, shows, method.getFullName()));
                    }
                })
                .allowEmptyShould(true)
                .check(classes);
    }

    private static ArchCondition<JavaClass> nameTheModel() {
        return ArchCondition.from(new DescribedPredicate<>("bear the model's name in a class, member or package name") {
            @Override
            public boolean test(JavaClass type) {
                return namesModel(type.getName())
                        || type.getMembers().stream().anyMatch(member -> namesModel(member.getName()));
            }
        });
    }

    private static boolean namesModel(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return List.of("h3", "minimax", "qwen").stream().anyMatch(lower::contains);
    }
}
