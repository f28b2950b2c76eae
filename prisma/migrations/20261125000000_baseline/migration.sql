-- The schema of the first release, in one piece. Every later migration is written for processes that run meanwhile: see
-- CONTRIBUTING.md, "Migrations".
--
-- Texts that are compared or ordered have the order of their bytes, so that lists are the same on every database; the token
-- of an upload has it too, because storages list their files in that order.

-- CreateEnum
CREATE TYPE "rollup_span" AS ENUM ('hour', 'day', 'month');

-- CreateEnum
CREATE TYPE "rollup_grain" AS ENUM ('all', 'owner', 'key', 'end_user');

-- CreateEnum
CREATE TYPE "rollup_name_kind" AS ENUM ('end_user', 'app');

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "username" TEXT NOT NULL,
    "username_key" TEXT COLLATE "C" NOT NULL,
    "password_hash" TEXT NOT NULL,
    "role" TEXT COLLATE "C" NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL DEFAULT 'active',
    "token_epoch" INTEGER NOT NULL DEFAULT 0,
    "api_calls_count" BIGINT NOT NULL DEFAULT 0,
    "max_api_calls" BIGINT NOT NULL,
    "quota_period" TEXT COLLATE "C" NOT NULL DEFAULT 'none',
    "quota_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_login" TIMESTAMPTZ(3),
    "upload_bytes" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL,
    "permissions" TEXT[],
    "allowed_agents" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "chat_per_minute" INTEGER,
    "upload_per_minute" INTEGER,
    "owner_id" UUID NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "total_calls" BIGINT NOT NULL DEFAULT 0,
    "day_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
    "day_calls" BIGINT NOT NULL DEFAULT 0,
    "month_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
    "month_calls" BIGINT NOT NULL DEFAULT 0,
    "total_baseline" BIGINT NOT NULL DEFAULT 0,
    "day_baseline" BIGINT NOT NULL DEFAULT 0,
    "day_reset_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
    "month_baseline" BIGINT NOT NULL DEFAULT 0,
    "month_reset_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "calls" (
    "id" UUID NOT NULL,
    "request_id" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "end_user" TEXT NOT NULL DEFAULT '',
    "kind" TEXT COLLATE "C" NOT NULL,
    "face" TEXT COLLATE "C" NOT NULL,
    "agent" TEXT NOT NULL,
    "app" TEXT NOT NULL DEFAULT '',
    "model" TEXT,
    "conversation" TEXT NOT NULL DEFAULT '',
    "instance" UUID NOT NULL,
    "outcome" TEXT COLLATE "C",
    "reason" TEXT,
    "platform_status" INTEGER,
    "platform_code" TEXT,
    "platform_log_id" TEXT,
    "prompt_tokens" INTEGER,
    "completion_tokens" INTEGER,
    "total_tokens" INTEGER,
    "admitted_at" TIMESTAMPTZ(3) NOT NULL,
    "first_chunk_ms" INTEGER,
    "duration_ms" INTEGER,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "uploads" (
    "id" UUID NOT NULL,
    "call_id" UUID NOT NULL,
    "token" TEXT COLLATE "C" NOT NULL,
    "url_name" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "owner_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "agent" TEXT NOT NULL DEFAULT '',
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "uploads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upload_copies" (
    "upload_id" UUID NOT NULL,
    "agent" TEXT NOT NULL,
    "credential" TEXT NOT NULL,
    "end_user" TEXT NOT NULL,
    "platform_file_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "upload_copies_pkey" PRIMARY KEY ("upload_id","agent","credential","end_user")
);

-- CreateTable
CREATE TABLE "rollups" (
    "span" "rollup_span" NOT NULL,
    "grain" "rollup_grain" NOT NULL,
    "subject" TEXT NOT NULL DEFAULT '',
    "bucket" TIMESTAMPTZ(3) NOT NULL,
    "end_user" TEXT NOT NULL DEFAULT '',
    "kind" TEXT COLLATE "C" NOT NULL,
    "agent" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "outcome" TEXT COLLATE "C" NOT NULL,
    "calls" BIGINT NOT NULL,
    "token_calls" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "first_chunk" JSONB NOT NULL,
    "duration" JSONB NOT NULL,

    CONSTRAINT "rollups_pkey" PRIMARY KEY ("span","grain","subject","bucket","end_user","kind","agent","app","model","outcome")
);

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

-- CreateTable
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',
    "stopped_at" TIMESTAMPTZ(3),
    "build" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "instances_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signing_keys" (
    "id" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "sealed" BOOLEAN NOT NULL,
    "secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "revoked_tokens" (
    "id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revoked_tokens_pkey" PRIMARY KEY ("id")
);

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
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "turns" (
    "id" UUID NOT NULL,
    "conversation" TEXT NOT NULL,
    "question" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "is_escaped" BOOLEAN NOT NULL,
    "characters" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "turns_pkey" PRIMARY KEY ("conversation","created_at","id")
);

-- CreateTable
CREATE TABLE "settings" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_username_key_key" ON "users"("username_key");

-- CreateIndex
CREATE INDEX "users_status_updated_at_idx" ON "users"("status", "updated_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_owner_id_id_idx" ON "api_keys"("owner_id", "id");

-- CreateIndex
CREATE INDEX "api_keys_created_by_id_id_idx" ON "api_keys"("created_by_id", "id");

-- CreateIndex
CREATE INDEX "api_keys_revoked_at_idx" ON "api_keys"("revoked_at");

-- CreateIndex
CREATE INDEX "api_keys_expires_at_idx" ON "api_keys"("expires_at");

-- CreateIndex
CREATE INDEX "calls_key_id_id_idx" ON "calls"("key_id", "id");

-- CreateIndex
CREATE INDEX "calls_owner_id_id_idx" ON "calls"("owner_id", "id");

-- CreateIndex
CREATE INDEX "calls_owner_id_conversation_id_idx" ON "calls"("owner_id", "conversation", "id");

-- CreateIndex
CREATE UNIQUE INDEX "uploads_token_key" ON "uploads"("token");

-- CreateIndex
CREATE INDEX "uploads_owner_id_id_idx" ON "uploads"("owner_id", "id");

-- CreateIndex
CREATE INDEX "uploads_key_id_id_idx" ON "uploads"("key_id", "id");

-- CreateIndex
CREATE INDEX "uploads_expires_at_idx" ON "uploads"("expires_at");

-- CreateIndex
CREATE INDEX "uploads_deleted_at_idx" ON "uploads"("deleted_at");

-- CreateIndex
CREATE INDEX "rollups_span_grain_bucket_idx" ON "rollups"("span", "grain", "bucket");

-- CreateIndex
CREATE INDEX "rollup_names_day_idx" ON "rollup_names"("day");

-- CreateIndex
CREATE INDEX "rollup_name_counts_day_idx" ON "rollup_name_counts"("day");

-- CreateIndex
CREATE INDEX "instances_lease_until_idx" ON "instances"("lease_until");

-- CreateIndex
CREATE INDEX "revoked_tokens_expires_at_idx" ON "revoked_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "conversations_used_at_idx" ON "conversations"("used_at");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_key_id_fkey" FOREIGN KEY ("key_id") REFERENCES "api_keys"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upload_copies" ADD CONSTRAINT "upload_copies_upload_id_fkey" FOREIGN KEY ("upload_id") REFERENCES "uploads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Open calls are few among millions: the reaper looks for them at every beat.
CREATE INDEX "calls_open" ON "calls"("instance", "id") WHERE "outcome" IS NULL;

-- For the sweep alone, whose statement repeats the condition. Without it, a planner that lacks statistics may look for the
-- latest turns of one conversation by walking through this index, which holds the turns of all of them.
CREATE INDEX "turns_created_at" ON "turns"("created_at") WHERE "characters" >= 0;

-- Every settlement rewrites the same few rows: room on their pages keeps that off the index.
ALTER TABLE "rollups" SET (fillfactor = 50);
ALTER TABLE "users" SET (fillfactor = 50);
ALTER TABLE "api_keys" SET (fillfactor = 50);

-- A settlement leaves a dead row of each call. By default a ledger of 10 million calls would collect two million of them
-- before it is vacuumed, and as many new rows before its statistics are renewed.
ALTER TABLE "calls" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
