"""A server of language and vision models with OpenAI's interface (vLLM, Ollama, llama.cpp, LM Studio, a cloud).

    settings    ``params.yaml: server``: address, models, limits, prices
    prompts     files with a version, and the form of their answers
    client      requests with retries, budget and a common stop; answers are stored unchanged

Not in scope: what answers are used for, and the checks that they pass before.
"""
