-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "has_turn" BOOLEAN;
