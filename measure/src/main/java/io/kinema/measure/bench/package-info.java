/** The bench protocol: one warm-up and three measured requests in one engine, judged by rules and limits. */
package io.kinema.measure.bench;
