import { serve } from './serve.ts'

/** A platform that reads every request and never answers. */
serve((request) => request.resume())
