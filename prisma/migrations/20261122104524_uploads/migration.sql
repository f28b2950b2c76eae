-- The token has the order of its bytes, in which storages list their files, so that both can be compared range by range.

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "upload_bytes" BIGINT NOT NULL DEFAULT 0;

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

-- AddForeignKey
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_key_id_fkey" FOREIGN KEY ("key_id") REFERENCES "api_keys"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upload_copies" ADD CONSTRAINT "upload_copies_upload_id_fkey" FOREIGN KEY ("upload_id") REFERENCES "uploads"("id") ON DELETE CASCADE ON UPDATE CASCADE;
