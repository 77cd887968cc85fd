/** What a model holds, from its headers and configs alone: {@link io.kinema.engine.inspect.ModelInspector}. */
package io.kinema.engine.inspect;
