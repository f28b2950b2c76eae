-- CreateTable
CREATE TABLE "conversations" (
    "key" TEXT NOT NULL,
    "owner_id" UUID NOT NULL,
    "agent" TEXT NOT NULL,
    "platform_id" TEXT,
    "holder" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "lost_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "turns" (
    "id" UUID NOT NULL,
    "conversation" TEXT NOT NULL,
    "question" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "turns_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "turns_conversation_id_idx" ON "turns"("conversation", "id");

-- CreateIndex
CREATE INDEX "turns_created_at_idx" ON "turns"("created_at");
