-- AlterEnum
ALTER TYPE "call_face" ADD VALUE 'responses';

-- CreateIndex
CREATE INDEX "calls_owner_id_conversation_id_idx" ON "calls"("owner_id", "conversation", "id");
