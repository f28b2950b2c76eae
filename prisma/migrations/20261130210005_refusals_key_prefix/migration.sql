-- AlterTable
ALTER TABLE "refusals" ADD COLUMN     "key_prefix" TEXT NOT NULL DEFAULT '';
