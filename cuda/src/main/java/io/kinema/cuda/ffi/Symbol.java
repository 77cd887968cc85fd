package io.kinema.cuda.ffi;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The native function that a record component of type {@link java.lang.invoke.MethodHandle} calls. Types are the Java
 * carriers: int, long (also size_t and CUdeviceptr), float, double, {@link java.lang.foreign.MemorySegment} for pointers.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Symbol {
    /** The exported name. */
    String value();

    /** Parameters in order. */
    Class<?>[] takes() default {};

    /** The result; most functions of these libraries return a status code. */
    Class<?> returns() default int.class;
}
