import { createCards } from './cards.ts'

/** For agents whose cards stand in the configuration, or that need none. */
export const CONFIGURED_CARDS = createCards(() => Promise.reject(new Error('no card is asked for')))
