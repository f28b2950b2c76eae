-- CreateTable
CREATE TABLE "refusal_counts" (
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "key_id" TEXT NOT NULL DEFAULT '',
    "owner_id" TEXT NOT NULL DEFAULT '',
    "agent" TEXT NOT NULL DEFAULT '',
    "reason" TEXT NOT NULL,
    "limit" TEXT NOT NULL DEFAULT '',
    "count" BIGINT NOT NULL,

    CONSTRAINT "refusal_counts_pkey" PRIMARY KEY ("minute","key_id","owner_id","agent","reason","limit")
);

-- CreateTable
CREATE TABLE "refusals" (
    "id" UUID NOT NULL,
    "request_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "key_id" UUID,
    "owner_id" UUID NOT NULL,
    "face" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "agent" TEXT NOT NULL DEFAULT '',
    "reason" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "limit" TEXT NOT NULL DEFAULT '',
    "field" TEXT,

    CONSTRAINT "refusals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refusal_allowances" (
    "credential" TEXT NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "start" TIMESTAMPTZ(3) NOT NULL,
    "kept" INTEGER NOT NULL,

    CONSTRAINT "refusal_allowances_pkey" PRIMARY KEY ("credential","reason","start")
);

-- CreateIndex
CREATE INDEX "refusal_counts_owner_id_minute_idx" ON "refusal_counts"("owner_id", "minute");

-- CreateIndex
CREATE INDEX "refusals_request_id_idx" ON "refusals"("request_id");

-- CreateIndex
CREATE INDEX "refusals_key_id_id_idx" ON "refusals"("key_id", "id");

-- CreateIndex
CREATE INDEX "refusals_owner_id_id_idx" ON "refusals"("owner_id", "id");

-- CreateIndex
CREATE INDEX "refusals_at_idx" ON "refusals"("at");

-- CreateIndex
CREATE INDEX "refusal_allowances_start_idx" ON "refusal_allowances"("start");
