/**
 * Which ways of running are right and steady for a shape on this machine: candidates are held to quality and bench against their
 * baseline, the outcome goes into a ledger, and {@code auto} takes nothing that the ledger does not vouch for.
 */
package io.kinema.measure.qualify;
