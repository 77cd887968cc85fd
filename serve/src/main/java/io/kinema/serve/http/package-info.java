/** What every route of the server shares: who may call, what headers answers bear, errors, byte ranges, slow connections. */
package io.kinema.serve.http;
