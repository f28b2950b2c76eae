-- AlterTable
ALTER TABLE "instances" ADD COLUMN     "concerns" JSONB,
ADD COLUMN     "port" INTEGER;
