-- AlterTable
ALTER TABLE "uploads" ADD COLUMN     "end_user" TEXT NOT NULL DEFAULT '';
