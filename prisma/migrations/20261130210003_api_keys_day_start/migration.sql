CREATE INDEX CONCURRENTLY "api_keys_day_start_idx" ON "api_keys"("day_start");
