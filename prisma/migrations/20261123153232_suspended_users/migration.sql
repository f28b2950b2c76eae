-- CreateIndex
CREATE INDEX "users_status_updated_at_idx" ON "users"("status", "updated_at");
