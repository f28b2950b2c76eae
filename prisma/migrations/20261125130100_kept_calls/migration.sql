-- CreateTable
CREATE TABLE "idempotency_keys" (
    "key_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "call_id" UUID NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("key_id","hash")
);

-- CreateTable
CREATE TABLE "kept_calls" (
    "call_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "face" TEXT NOT NULL,
    "conversation" TEXT NOT NULL,
    "stream" BOOLEAN NOT NULL,
    "instance" UUID NOT NULL,
    "stop_requested_at" TIMESTAMPTZ(3),
    "read_until" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "events" INTEGER,
    "status" SMALLINT,
    "problem" TEXT,
    "reply" BYTEA,
    "bytes" INTEGER NOT NULL DEFAULT 0,
    "gone_at" TIMESTAMPTZ(3),

    CONSTRAINT "kept_calls_pkey" PRIMARY KEY ("call_id")
);

-- CreateTable
CREATE TABLE "reply_parts" (
    "call_id" UUID NOT NULL,
    "first" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "reply_parts_pkey" PRIMARY KEY ("call_id","first")
);

-- CreateIndex
CREATE INDEX "kept_calls_ended_at_idx" ON "kept_calls"("ended_at");

-- Running calls are few among many: each heartbeat looks for those of dead processes.
CREATE INDEX "kept_calls_open" ON "kept_calls"("instance", "call_id") WHERE "ended_at" IS NULL;

-- What owners and all of them take is summed up from the index alone, and the oldest replies are the first of it.
CREATE INDEX "kept_calls_stored" ON "kept_calls"("ended_at", "call_id") INCLUDE ("owner_id", "bytes")
  WHERE "ended_at" IS NOT NULL AND "gone_at" IS NULL;

-- Compressed already.
ALTER TABLE "reply_parts" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
ALTER TABLE "kept_calls" ALTER COLUMN "reply" SET STORAGE EXTERNAL;
