/** What a request will do: its rules, its defaults and the sizes that follow from them. Loads no weights. */
package io.kinema.engine.plan;
