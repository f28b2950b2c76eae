-- CreateEnum
CREATE TYPE "Role" AS ENUM ('admin', 'premium', 'user');

-- CreateEnum
CREATE TYPE "user_status" AS ENUM ('active', 'suspended');

-- CreateEnum
CREATE TYPE "quota_period" AS ENUM ('none', 'day', 'month');

-- CreateEnum
CREATE TYPE "call_kind" AS ENUM ('chat', 'upload');

-- CreateEnum
CREATE TYPE "call_face" AS ENUM ('rest', 'openai', 'graphql');

-- CreateEnum
CREATE TYPE "call_outcome" AS ENUM ('done', 'client_gone', 'upstream_error', 'timeout', 'drained', 'interrupted', 'rejected');

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "username" TEXT NOT NULL,
    "username_key" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "status" "user_status" NOT NULL DEFAULT 'active',
    "token_epoch" INTEGER NOT NULL DEFAULT 0,
    "api_calls_count" BIGINT NOT NULL DEFAULT 0,
    "max_api_calls" BIGINT NOT NULL,
    "quota_period" "quota_period" NOT NULL DEFAULT 'none',
    "quota_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamptz,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_login" TIMESTAMPTZ(3),

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "name" TEXT NOT NULL,
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
    "day_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamptz,
    "day_calls" BIGINT NOT NULL DEFAULT 0,
    "month_start" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamptz,
    "month_calls" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "calls" (
    "id" UUID NOT NULL,
    "request_id" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "end_user" TEXT NOT NULL DEFAULT '',
    "kind" "call_kind" NOT NULL,
    "face" "call_face" NOT NULL,
    "agent" TEXT NOT NULL,
    "app" TEXT NOT NULL DEFAULT '',
    "model" TEXT,
    "conversation" TEXT NOT NULL DEFAULT '',
    "instance" UUID NOT NULL,
    "outcome" "call_outcome",
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
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "stopped_at" TIMESTAMPTZ(3),

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
CREATE TABLE "settings" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_username_key_key" ON "users"("username_key");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_owner_id_id_idx" ON "api_keys"("owner_id", "id");

-- CreateIndex
CREATE INDEX "api_keys_created_by_id_id_idx" ON "api_keys"("created_by_id", "id");

-- CreateIndex
CREATE INDEX "calls_key_id_id_idx" ON "calls"("key_id", "id");

-- CreateIndex
CREATE INDEX "calls_owner_id_id_idx" ON "calls"("owner_id", "id");

-- CreateIndex
CREATE INDEX "revoked_tokens_expires_at_idx" ON "revoked_tokens"("expires_at");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
