/**
 * Fetches the references that requests name by address: http and https only, from public addresses only, each resolved once and
 * connected to as it was checked, within limits of size, time and redirects.
 */
package io.kinema.serve.fetch;
