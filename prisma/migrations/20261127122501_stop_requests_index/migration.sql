-- Each process looks every half second for its own calls that are to be stopped. Only they are in this index, until they have ended.
CREATE INDEX CONCURRENTLY "calls_stop_requested" ON "calls"("instance", "id") WHERE "outcome" IS NULL AND "stop_requested_at" IS NOT NULL;
