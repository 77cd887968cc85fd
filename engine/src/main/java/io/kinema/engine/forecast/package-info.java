/** What a request will do and cost, from configs, headers and this machine's own measurements. Loads no weights. */
package io.kinema.engine.forecast;
