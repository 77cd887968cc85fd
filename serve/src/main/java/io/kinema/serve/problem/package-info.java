/** What the API answers when it cannot do what was asked: RFC 9457 problem documents of one sentence. */
package io.kinema.serve.problem;
