-- Three migrations, because each is a transaction: admissions wait for one index at a time, which takes less than the two
-- seconds that they wait, also with a million keys.

-- CreateIndex
CREATE INDEX "api_keys_revoked_at_idx" ON "api_keys"("revoked_at");
