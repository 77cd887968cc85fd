/** Writes checkpoints: other layouts and dtypes ({@link io.kinema.engine.convert.ModelConverter}), INT8 ({@link io.kinema.engine.convert.Quantizer}). */
package io.kinema.engine.convert;
