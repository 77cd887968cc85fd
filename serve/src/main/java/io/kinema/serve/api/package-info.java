/** The routes: videos, models, health, metrics, pages, and the document that describes them. */
package io.kinema.serve.api;
