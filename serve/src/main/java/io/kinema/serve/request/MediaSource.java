package io.kinema.serve.request;

import io.kinema.jobs.JobId;
import io.kinema.serve.body.Upload;

/** Where a picture, video or sound of a call comes from. */
sealed interface MediaSource {
    /** A file in the body. */
    record Uploaded(Upload upload) implements MediaSource {
    }

    /** An http, https or data address. */
    record Address(String url) implements MediaSource {
    }

    /** A file below the server's root of files. */
    record ServerFile(String path) implements MediaSource {
    }

    /** An output of an earlier job. */
    record Earlier(JobId job, int output) implements MediaSource {
    }
}
