-- CreateTable
CREATE TABLE "removed_api_keys" (
    "id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,

    CONSTRAINT "removed_api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "removed_api_keys_owner_id_id_idx" ON "removed_api_keys"("owner_id", "id");
