/**
 * Whether a result is as good as another: the gates and their verdict. The numbers they judge are made in {@code tensor},
 * {@code picture} and {@code sound}; {@code compare} makes them from files, {@code report} shows them.
 */
package io.kinema.quality;
