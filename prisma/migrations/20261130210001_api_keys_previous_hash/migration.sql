CREATE INDEX CONCURRENTLY "api_keys_previous_hash_idx" ON "api_keys"("previous_hash");
