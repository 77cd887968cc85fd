/** H3's networks, written once against the Backend interface. */
package io.kinema.model;
