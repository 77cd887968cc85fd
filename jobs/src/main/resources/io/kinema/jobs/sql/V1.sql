-- The queue as a whole: one row, locked by whoever records a job or cleans up.
create table kinema_queue (
    id integer not null primary key,
    last_place bigint not null,
    swept_at timestamp with time zone not null
);

-- Jobs. What a job is and asks for never changes after insertion; the rest is written by JobTransitions.
create table kinema_jobs (
    id varchar(64) not null primary key,
    place bigint not null unique,
    state varchar(16) not null,
    model varchar(255) not null,
    generate varchar not null,
    details varchar not null,
    owner varchar(255),
    owner_key varchar(256) not null,
    idempotency_key varchar(255),
    fingerprint varchar(64),
    listed boolean not null,
    remixed_from varchar(64),
    created_at timestamp with time zone not null,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone,
    updated_at timestamp with time zone not null,
    revision bigint not null,
    attempts_begun integer not null,
    attempts_crashed integer not null,
    attempts_lost integer not null,
    cancelling boolean not null,
    progress varchar not null,
    outputs varchar not null,
    error varchar,
    keep_millis bigint not null,
    unique (owner_key, idempotency_key)
);
create index kinema_jobs_state on kinema_jobs (state, owner_key);
create index kinema_jobs_finished on kinema_jobs (finished_at);

-- The scheduler's own table (db-scheduler 16); kinema_jobs.id is its task_instance.
create table kinema_tasks (
    task_name varchar(300) not null,
    task_instance varchar(100) not null,
    task_data bytea,
    execution_time timestamp with time zone not null,
    picked boolean not null,
    picked_by varchar(100),
    last_success timestamp with time zone,
    last_failure timestamp with time zone,
    consecutive_failures integer,
    last_heartbeat timestamp with time zone,
    version bigint not null,
    priority smallint,
    primary key (task_name, task_instance)
);
create index kinema_tasks_time on kinema_tasks (execution_time);
create index kinema_tasks_heartbeat on kinema_tasks (last_heartbeat);
