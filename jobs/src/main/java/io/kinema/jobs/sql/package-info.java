/**
 * Jobs in an SQL database: one file beside the results by default, PostgreSQL for several hosts. Whose turn it is and which
 * worker still lives is db-scheduler's business ({@link io.kinema.jobs.sql.JobTasks}); what a job is, and its state, are ours
 * ({@link io.kinema.jobs.sql.SqlJobs}).
 */
package io.kinema.jobs.sql;
