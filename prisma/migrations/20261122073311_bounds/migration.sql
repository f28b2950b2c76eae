-- CreateEnum
CREATE TYPE "rollup_name_kind" AS ENUM ('end_user', 'app');

-- DropIndex
DROP INDEX "turns_conversation_id_idx";

-- DropIndex
DROP INDEX "turns_created_at_idx";

-- AlterTable
ALTER TABLE "conversations" ADD COLUMN     "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "turns" DROP CONSTRAINT "turns_pkey",
ADD COLUMN     "characters" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "is_escaped" BOOLEAN NOT NULL DEFAULT true,
ADD CONSTRAINT "turns_pkey" PRIMARY KEY ("conversation", "created_at", "id");

-- Every text so far is a JSON string in ASCII, in which one escape sequence or one plain character is one UTF-16 unit.
UPDATE "turns" SET "characters" =
  char_length(regexp_replace("question", '\\(u[0-9a-f]{4}|.)', 'x', 'g')) +
  char_length(regexp_replace("answer", '\\(u[0-9a-f]{4}|.)', 'x', 'g')) - 4;

-- AlterTable
ALTER TABLE "turns" ALTER COLUMN "characters" DROP DEFAULT,
ALTER COLUMN "is_escaped" DROP DEFAULT;

-- CreateTable
CREATE TABLE "rollup_names" (
    "kind" "rollup_name_kind" NOT NULL,
    "subject" TEXT NOT NULL,
    "day" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "rollup_names_pkey" PRIMARY KEY ("kind","subject","day","name")
);

-- CreateTable
CREATE TABLE "rollup_name_counts" (
    "kind" "rollup_name_kind" NOT NULL,
    "subject" TEXT NOT NULL,
    "day" TIMESTAMPTZ(3) NOT NULL,
    "names" INTEGER NOT NULL,

    CONSTRAINT "rollup_name_counts_pkey" PRIMARY KEY ("kind","subject","day")
);

-- CreateIndex
CREATE INDEX "rollup_names_day_idx" ON "rollup_names"("day");

-- CreateIndex
CREATE INDEX "rollup_name_counts_day_idx" ON "rollup_name_counts"("day");

-- CreateIndex
CREATE INDEX "conversations_used_at_idx" ON "conversations"("used_at");

-- CreateIndex
CREATE INDEX "instances_lease_until_idx" ON "instances"("lease_until");

-- For the sweep alone, whose statement repeats the condition. Without it, a planner that lacks statistics may look for the
-- latest turns of one conversation by walking through this index, which holds the turns of all of them.
CREATE INDEX "turns_created_at" ON "turns"("created_at") WHERE "characters" >= 0;
