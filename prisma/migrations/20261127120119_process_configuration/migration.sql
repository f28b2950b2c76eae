-- AlterTable
ALTER TABLE "instances" ADD COLUMN     "configuration" JSONB;
