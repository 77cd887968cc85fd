package io.kinema.jobs;

/** What became of a wish to delete a job. */
public enum Deletion {
    /** The job and its files are gone. */
    DELETED,
    /** A worker works on it: cancel it first. */
    IN_PROGRESS,
    /** There is no such job. */
    UNKNOWN
}
