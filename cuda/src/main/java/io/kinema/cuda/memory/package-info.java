/** Device memory with exact accounting. */
package io.kinema.cuda.memory;
