import type { ChatEvent } from '#core/agents/events.ts'
import { textOfPause } from '#core/agents/pause.ts'

/**
 * The text of a reply for the next turn, after another event. Collecting stops one character beyond the longest turn that is ever
 * sent again: this bounds the memory of an endless reply, and the length still shows that the reply was too long.
 */
export function answerAfter(before: string, event: ChatEvent, charactersMax: number): string {
  switch (event.type) {
    case 'text':
      // What is too long already is not copied with every further piece.
      return before.length > charactersMax ? before : (before + event.text).slice(0, charactersMax + 1)
    case 'replace':
      return event.text.slice(0, charactersMax + 1)
    case 'pause':
      return `${before}${before === '' ? '' : '\n\n'}${textOfPause(event.pause)}`.slice(0, charactersMax + 1)
    default:
      return before
  }
}
