-- CreateEnum
CREATE TYPE "rollup_span" AS ENUM ('hour', 'day', 'month');

-- CreateEnum
CREATE TYPE "rollup_grain" AS ENUM ('all', 'owner', 'key', 'end_user');

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "day_baseline" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "day_reset_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
ADD COLUMN     "month_baseline" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "month_reset_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
ADD COLUMN     "total_baseline" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "instances" ADD COLUMN     "lease_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00';

-- CreateTable
CREATE TABLE "rollups" (
    "span" "rollup_span" NOT NULL,
    "grain" "rollup_grain" NOT NULL,
    "subject" TEXT NOT NULL DEFAULT '',
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "end_user" TEXT NOT NULL DEFAULT '',
    "kind" "call_kind" NOT NULL,
    "agent" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "outcome" "call_outcome" NOT NULL,
    "calls" BIGINT NOT NULL,
    "token_calls" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "first_chunk" JSONB NOT NULL,
    "duration" JSONB NOT NULL,

    CONSTRAINT "rollups_pkey" PRIMARY KEY ("span","grain","subject","bucket","end_user","kind","agent","app","model","outcome")
);

-- CreateIndex
CREATE INDEX "rollups_span_grain_bucket_idx" ON "rollups"("span", "grain", "bucket");

-- Open calls are few among millions: the reaper looks for them at every beat.
CREATE INDEX "calls_open" ON "calls"("instance", "id") WHERE "outcome" IS NULL;

-- Every settlement rewrites the same few rows: room on their pages keeps that off the index.
ALTER TABLE "rollups" SET (fillfactor = 50);
ALTER TABLE "users" SET (fillfactor = 50);
ALTER TABLE "api_keys" SET (fillfactor = 50);
