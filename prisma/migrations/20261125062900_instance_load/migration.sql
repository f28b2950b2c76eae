-- AlterTable
ALTER TABLE "instances" ADD COLUMN     "load" JSONB;
