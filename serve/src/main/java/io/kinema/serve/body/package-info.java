/** Reads request bodies (JSON, multipart, urlencoded) within limits; uploads go to files as they come. */
package io.kinema.serve.body;
