package io.kinema.serve.body;

/** How the text of a form field is read. */
public enum FieldKind {
    /** As it stands. */
    TEXT,
    /** As a JSON scalar where it is one; whole JSON where an object or array stands there. */
    VALUE,
    /** A file, or JSON that names one, or an address; may come repeatedly. */
    MEDIA,
    /** No such field. */
    UNKNOWN
}
