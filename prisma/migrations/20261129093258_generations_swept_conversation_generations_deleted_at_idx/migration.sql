CREATE INDEX CONCURRENTLY "conversation_generations_deleted_at_idx" ON "conversation_generations"("deleted_at");
