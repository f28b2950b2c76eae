CREATE UNIQUE INDEX CONCURRENTLY "api_keys_previous_hash_key" ON "api_keys"("previous_hash");
