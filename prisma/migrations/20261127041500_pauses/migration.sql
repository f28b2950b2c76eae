-- CreateTable
CREATE TABLE "pauses" (
    "id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "end_user" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "deployment" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "sealed" BOOLEAN NOT NULL,
    "content" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed_by" UUID,
    "claimed_at" TIMESTAMPTZ(3),

    CONSTRAINT "pauses_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "pauses_owner_id_conversation_id_idx" ON "pauses"("owner_id", "conversation", "id");

-- CreateIndex
CREATE INDEX "pauses_created_at_idx" ON "pauses"("created_at");

-- The call that answers finds what it has claimed. Most pauses are claimed by nobody.
CREATE INDEX "pauses_claimed_by" ON "pauses"("claimed_by") WHERE "claimed_by" IS NOT NULL;

-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "answered_by" UUID,
ADD COLUMN     "answers" UUID,
ADD COLUMN     "paused" BOOLEAN NOT NULL DEFAULT false;
