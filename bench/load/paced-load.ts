import { type PacedLoad, paceCalls } from './paced-calls.ts'

/** A process that makes calls at a steady pace for as long as it is told, and then reports how they were answered. */
const load: Omit<PacedLoad, 'lastsMs'> = JSON.parse(process.argv[2] ?? '')
process.once('disconnect', () => process.exit())
process.on('message', async (lastsMs: number) => {
  process.send?.(await paceCalls({ ...load, lastsMs }))
})
