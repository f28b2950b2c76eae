-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "answer_id" TEXT,
ADD COLUMN     "rated_at" TIMESTAMPTZ(3),
ADD COLUMN     "rating" TEXT,
ADD COLUMN     "rating_text" TEXT;

-- CreateTable
CREATE TABLE "listed_conversations" (
    "id" UUID NOT NULL,
    "identity" BYTEA NOT NULL,
    "owner_id" UUID NOT NULL,
    "end_user" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "name" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_activity_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "listed_conversations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "conversation_generations" (
    "identity" BYTEA NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "deleting_until" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "conversation_generations_pkey" PRIMARY KEY ("identity")
);

-- CreateIndex
CREATE UNIQUE INDEX "listed_conversations_identity_key" ON "listed_conversations"("identity");

-- CreateIndex
CREATE INDEX "listed_conversations_last_activity_at_id_idx" ON "listed_conversations"("last_activity_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "listed_conversations_owner_id_last_activity_at_id_idx" ON "listed_conversations"("owner_id", "last_activity_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "listed_conversations_owner_id_end_user_last_activity_at_id_idx" ON "listed_conversations"("owner_id", "end_user", "last_activity_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "listed_conversations_owner_id_conversation_idx" ON "listed_conversations"("owner_id", "conversation");
