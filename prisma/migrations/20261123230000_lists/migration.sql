-- Both texts are compared by their bytes, so that lists have the same order on every database.

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "name_key" TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE "api_keys" SET "name_key" = replace(lower("name"), 'ς', 'σ');
ALTER TABLE "api_keys" ALTER COLUMN "name_key" DROP DEFAULT;

-- AlterTable
ALTER TABLE "users" ALTER COLUMN "username_key" TYPE TEXT COLLATE "C";
UPDATE "users" SET "username_key" = replace("username_key", 'ς', 'σ') WHERE "username_key" LIKE '%ς%';
