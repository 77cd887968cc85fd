/**
 * Ranks of one process and what they do together: reductions, gathers, decisions. A rank is a platform thread with a backend of its own.
 * Nothing here knows a model.
 *
 * <p>{@link io.kinema.compute.collective.RankGroup} holds the threads and joins them on the host;
 * {@link io.kinema.compute.collective.BackendGroup} adds a backend to each. Where backends compute on devices, who joins them is found as a service:
 * a {@link io.kinema.compute.collective.CommunicatorProvider} says which devices it joins and makes each rank's
 * {@link io.kinema.compute.collective.DeviceCommunicator}, on the rank's own thread and with the host's group at hand.
 */
package io.kinema.compute.collective;
