-- A caller that is bound to an end user reads its calls among all of their owner. Calls that name none are not in this index.
CREATE INDEX CONCURRENTLY "calls_end_user" ON "calls"("owner_id", "end_user", "id") WHERE "end_user" <> '';
