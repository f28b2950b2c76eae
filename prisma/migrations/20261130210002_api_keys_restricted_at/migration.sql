CREATE INDEX CONCURRENTLY "api_keys_restricted_at_idx" ON "api_keys"("restricted_at");
